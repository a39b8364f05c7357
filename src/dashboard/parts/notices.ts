// What is said after an action, by the name that stands in the address: no stranger's link can have
// the dashboard say anything else.
export const NOTICES = {
  created: 'Created.',
  changed: 'Saved.',
  removed: 'Removed.',
  sent: 'Sending.',
  replayed: 'Sending the events.',
  moved: 'The clock has moved.',
  moving: 'The clock is moving. This page shows how far it is.',
  refunded: 'Refund requested. Its state is below.',
  charged: 'Charge requested. Its state is below.',
  granted: 'Granted.',
  taken_back: 'Grant voided.',
  corrected: 'Correction recorded.',
} as const;

export type NoticeName = keyof typeof NOTICES;

export function noticeOf(query: URLSearchParams): string | null {
  const name = query.get('done') ?? '';
  return Object.hasOwn(NOTICES, name) ? NOTICES[name as NoticeName] : null;
}
