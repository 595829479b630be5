"""All values of the field ``state`` of a view."""

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
