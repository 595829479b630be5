"""Where pictures come from: frames with their times, live cameras, and recordings.

A live camera runs in a thread of its own; the newest frame wins and an outage is reported until frames come again.
Nothing here looks into a picture.
"""
