"""Camera pose: fiducial markers, registration, tracking from frame to frame, and projection.

The output is a :class:`~vision.pose.projection.Registration`, the extrinsic pose of a calibrated camera; where none is
found, :mod:`~vision.pose.diagnosis` says why.
"""
