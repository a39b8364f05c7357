// The chapters of the document, with what each is about.

export const TAGS = {
  Meters: 'What is counted, and how events add up.',
  Customers: "Customers, by their id or the merchant's own id.",
  Grants: 'Units of a feature that a customer is given.',
  Metering: 'Check whether a customer may use a feature, and record usage.',
  Usage: 'Usage over time: in bins of the calendar, and event by event.',
  Alerts: 'Thresholds of usage.',
  Products:
    'What is sold: products, their prices, the features that they give and what usage beyond that costs.',
  Discounts: 'Codes that reduce the first payment.',
  Checkouts: 'Hosted payment pages, opened with a key or from a buy link.',
  'Hosted pages': "Pages for a buyer's browser. Their URL is the credential.",
  Payments: 'Payments and refunds.',
  Subscriptions: 'Recurring payments and their actions.',
  Invoices: 'Invoices, and the documents to print.',
  Reports: 'Numbers for the books.',
  Portal:
    'The page on which a customer sees and changes what was bought. A token in its URL opens it.',
  Events: 'What happened, newest first, as webhooks carry it.',
  Webhooks: 'Endpoints that events are sent to, and what is sent to them.',
  Partner: 'Endpoints of a group, which get the events of all its organizations.',
  'API keys': 'The keys of the organization: their scopes and expiry.',
  'Audit log': 'Who did what, from where, and what changed.',
  Organization: 'The settings of the organization.',
  Members: 'Members of the organization, invitations and security settings.',
  Tags: 'Labels on customers, subscriptions and invoices.',
  'Custom fields': 'Named values on customers, subscriptions and invoices.',
  'Test clock': 'The time of an organization in test mode, which can be moved forward.',
  Operation: 'For operators.',
  Documents: 'This document.',
} as const;

export type Tag = keyof typeof TAGS;
