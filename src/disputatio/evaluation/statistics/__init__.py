"""Statistics of comparisons and forecasts. Libraries compute what they offer; the rest is here, with its source."""
