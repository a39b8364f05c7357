// Times as fields of a form show and take them: on the clock of the organisation's zone.

/** For a field of the type `datetime-local`: 2026-03-29T09:30:00. */
export function localTime(iso: string, zone: string): string {
  const local = Temporal.Instant.from(iso).toZonedDateTimeISO(zone).toPlainDateTime();
  return local.toString({ smallestUnit: 'second' });
}

/**
 * The instant that such a field names, as the API takes it. What is no local time stays as it is,
 * for the API to refuse.
 */
export function instantOf(local: string, zone: string): string {
  try {
    return Temporal.PlainDateTime.from(local).toZonedDateTime(zone).toInstant().toString();
  } catch (error) {
    if (error instanceof RangeError) return local;
    throw error;
  }
}
