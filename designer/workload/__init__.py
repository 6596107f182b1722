"""What is to be run: model shapes, datasets and the work they ask for."""
