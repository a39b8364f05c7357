-- Usage that a customer's spend cap refuses.
ALTER TYPE reason ADD VALUE 'spend_cap';
