"""What surfaces look like: illumination, specular reflection, and a colour model of every material.

Pixel values enter here; the colour model gives the log-likelihood of a colour given a material and the measured light.
"""
