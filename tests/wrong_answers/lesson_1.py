"""Lesson 1: the RNN bottleneck."""
