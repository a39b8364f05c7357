-- A replaced logo is still served at its address: mails that were sent show it. The settings name the present one.
ALTER TABLE logos DROP CONSTRAINT logos_pkey, ADD PRIMARY KEY (organisation_id, mode, hash);
