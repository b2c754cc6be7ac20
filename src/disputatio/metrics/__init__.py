"""What debates come to over time: measures of one record, figures over many, and the thresholds they are held to."""
