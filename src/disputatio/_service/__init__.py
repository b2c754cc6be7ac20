"""The service: an HTTP API, a live stream of events and a web page over one store."""
