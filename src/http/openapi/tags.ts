// The chapters of the document, with what each is about.

export const TAGS = {
  Meters: 'What is counted, and how events become a number.',
  Customers: "A merchant's customers, by our id or the merchant's own.",
  Grants: 'Units of a feature that a customer is given.',
  Metering: 'Whether a customer may use a feature, and that it was used.',
  Usage: 'What was used, over time: in bins of the calendar, and event by event.',
  Alerts: 'Thresholds of usage that the merchant hears of.',
  Products:
    'What is sold: products, their prices, the features that they give and what usage beyond that costs.',
  Discounts: 'Codes that come off a first payment.',
  Checkouts: 'Hosted pages to pay on, opened with a key or from a buy link.',
  'Hosted pages': "Pages for a buyer's browser. Their address is the credential.",
  Payments: 'What was paid, and refunds of it.',
  Subscriptions: 'What is paid for again and again, and what may be done with it.',
  Invoices: 'Bills, and the documents to print.',
  Reports: 'What came of it, for the books.',
  Portal:
    'The page on which a customer sees and changes what was bought. A token in its address opens it.',
  Events: 'What happened, newest first, as webhooks tell it.',
  Webhooks: 'Endpoints that events are sent to, and what is sent to them.',
  Partner: 'Endpoints of a group, which hear of all its organizations.',
  'API keys': 'The keys of the organization: what each may do, and until when.',
  'Audit log': 'Who did what to what, from where, and what it was before and after.',
  Organization: 'The settings of the organization.',
  Members:
    'Who may sign in to the dashboard of the organization, who is invited, and what is asked of them.',
  Tags: 'Labels on customers, subscriptions and invoices.',
  'Custom fields': 'Named values on customers, subscriptions and invoices.',
  'Test clock': 'The time of an organization in test mode, which goes forward on demand.',
  Operation: 'For operators.',
  Documents: 'This document, for programs and to read.',
} as const;

export type Tag = keyof typeof TAGS;
