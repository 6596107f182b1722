"""Serving of language models: the time of an engine's step from its kernels, memory, hand-over, drafts and power.

One formula a file, on the dimensions of a model and the data sheet of a device; nothing here knows a drawing.
"""
