"""The statistics of comparisons and forecasts. Libraries do the work; what none has is here, with its source."""
