"""What is true of every state of the view."""

VIEW_STATES = (
    "clear",
    "hand",
    "blocked",
    "no-mat",
    "moved",
    "dark",
    "noise",
    "flicker",
    "shaking",
    "slow",
    "unread",
    "camera-lost",
)
