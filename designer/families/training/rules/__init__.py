"""Rules of training and what feeds it."""
