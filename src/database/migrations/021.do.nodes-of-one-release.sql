-- Before there were many nodes whoever took the one seat took every slot with it. A process of that time may still wait for it: it says
-- nothing of leaving, and is refused from now on.
ALTER TABLE nodes ALTER COLUMN leaving DROP DEFAULT,
  ADD CONSTRAINT nodes_numbered CHECK (epoch > 0 AND seq >= 0);
