-- An operation has one name: three of them were written with :id where the others have {id}.
UPDATE idempotency SET operation = replace(operation, ':id', '{id}') WHERE operation LIKE '%:id%';
