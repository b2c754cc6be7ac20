"""One debate as one HTML file that needs nothing else: no network, no other file, no JavaScript to be read."""

from disputatio.report.page.rendering import page_asset, page_policy, render_page, render_transcript

__all__ = ["page_asset", "page_policy", "render_page", "render_transcript"]
