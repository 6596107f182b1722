"""Pictures of designs without a window: a display list from a geometry, and renderers that need no Qt."""
