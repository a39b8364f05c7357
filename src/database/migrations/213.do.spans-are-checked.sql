-- Apart from the change before it: while rows are looked at, others read and write them.
ALTER TABLE usage_spans VALIDATE CONSTRAINT usage_spans_ends_after_start;
