// What is said after an action, by the name that stands in the address: no stranger's link can have
// the dashboard say anything else.
export const NOTICES = {
  created: 'It is made.',
  changed: 'The change is made.',
  removed: 'It is removed.',
  sent: 'It is on its way.',
  replayed: 'The events are on their way.',
  moved: 'The clock is moved.',
  moving: 'The clock is on its way: this page shows how far it is.',
  refunded: 'The refund is asked for: its state stands below.',
  charged: 'The charge was asked for: its state stands below.',
  granted: 'It is granted.',
  taken_back: 'What was left of the grant is taken back.',
  corrected: 'The correction is recorded.',
} as const;

export type NoticeName = keyof typeof NOTICES;

export function noticeOf(query: URLSearchParams): string | null {
  const name = query.get('done') ?? '';
  return Object.hasOwn(NOTICES, name) ? NOTICES[name as NoticeName] : null;
}
