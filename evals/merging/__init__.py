"""How much of the evidence equal budgets of tokens buy, for leaves and whatever is made of them."""
