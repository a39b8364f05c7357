// Every page of the dashboard, in the order of its sections. The whole table.
import { ALERT_PAGES } from './alerts.ts';
import { AUDIT_LOG_PAGES } from './audit-log.ts';
import { BRANDING_PAGES } from './branding.ts';
import { CUSTOMER_PAGES } from './customers.ts';
import { DELIVERY_PAGES } from './deliveries.ts';
import { EVENT_PAGES } from './events.ts';
import { HOME_PAGES } from './home.ts';
import { KEY_PAGES } from './keys.ts';
import { MEMBER_PAGES } from './members.ts';
import type { DashboardPage } from './serve/page.ts';
import { PROCESSOR_PAGES } from './processor.ts';
import { SALES_PAGES } from './sales.ts';
import { SETTINGS_PAGES } from './settings.ts';
import { TEST_CLOCK_PAGES } from './test-clock.ts';
import { WEBHOOK_REPLAY_PAGES } from './webhook-replay.ts';
import { WEBHOOK_PAGES } from './webhooks.ts';
import { WHY_PAGES } from './why.ts';

export const DASHBOARD_PAGES: readonly DashboardPage[] = [
  ...HOME_PAGES,
  ...CUSTOMER_PAGES,
  ...ALERT_PAGES,
  ...WHY_PAGES,
  ...SALES_PAGES,
  ...EVENT_PAGES,
  ...WEBHOOK_PAGES,
  ...WEBHOOK_REPLAY_PAGES,
  ...DELIVERY_PAGES,
  ...KEY_PAGES,
  ...AUDIT_LOG_PAGES,
  ...SETTINGS_PAGES,
  ...BRANDING_PAGES,
  ...MEMBER_PAGES,
  ...PROCESSOR_PAGES,
  ...TEST_CLOCK_PAGES,
];
