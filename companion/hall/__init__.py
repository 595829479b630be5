"""All tables of a hall: each publishes what it says, one hub keeps and shows it all."""
