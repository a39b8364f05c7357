-- What is given up is found without walking all that waits: a mail server that is away for a day leaves much.
CREATE INDEX mails_waiting ON mails (written_at) WHERE status = 'pending';
