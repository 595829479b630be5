"""All tables of a hall: each publishes its events, and one hub stores and shows them."""
