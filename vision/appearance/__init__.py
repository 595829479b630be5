"""What surfaces look like: illumination, specular reflection, and a colour model of every material.

Pixel values enter here; the colour model is the log-likelihood of a colour given a material under the measured light.
"""
