"""Designs in and out: the native file, importers and exporters of foreign formats."""
