ALTER TABLE portal_tokens
  -- The one page that it opens; null: all of the portal.
  ADD COLUMN page text,
  ADD CONSTRAINT portal_tokens_page_known CHECK (page = 'payment_method');
