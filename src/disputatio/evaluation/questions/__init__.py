"""Questions with known answers, and the debates and baselines that answer them."""
