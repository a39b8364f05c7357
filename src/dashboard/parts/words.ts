// Values of the API for people.

/** `past_due` is "past due". */
export const words = (value: string): string => value.replaceAll('_', ' ');
