"""Programs over time: an event-driven clock, runs as data, and classes of equivalent ranks."""
