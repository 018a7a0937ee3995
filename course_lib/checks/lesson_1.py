"""Exercises of lesson 1: the RNN bottleneck."""

ASKED = []
