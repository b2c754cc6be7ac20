"""One self-contained HTML page for each kind of evaluation: tables, and plots as inline SVG."""
