"""Control loops: sensors, a model and actuators at a fixed rate."""
