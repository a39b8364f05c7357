// The people of the dashboard: who is signed in, how one signs in, mails to them.
import { openSmtp } from '../../workers/mail/smtp.ts';
import type { Settings } from '../config.ts';
import { type Door, openDoor } from '../dashboard/serve/door.ts';
import type { OpenPage } from '../dashboard/serve/page.ts';
import { openPeoplePages } from '../dashboard/people.ts';
import { type Oidc, openOidc } from '../people/oidc.ts';
import { UserMailer, type SendMail } from '../people/user-mailer.ts';
import { timers } from '../platform/clock.ts';
import type { Secrets } from '../platform/crypto/secrets.ts';
import { newToken } from '../platform/crypto/tokens.ts';
import { ids } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { OidcSettings } from '../platform/oidc-settings.ts';
import type { RateLimiter } from '../platform/redis/rate-limit.ts';
import type { MailSettings } from '../platform/smtp-settings.ts';
import { findSession } from '../records/sessions.ts';
import type { Connections } from './connections.ts';
import type { ServiceOptions } from './options.ts';

const SENDER = 'Tollhouse';

export type People = {
  readonly door: Door;
  readonly openPages: readonly OpenPage[];
  readonly userMailer: UserMailer;
};

export function openPeople(
  { settings, log }: ServiceOptions,
  { sql, doors, clock }: Connections,
  { limiter, secrets }: { readonly limiter: RateLimiter; readonly secrets: Secrets },
): People {
  const send = settings.mail === undefined ? null : openSending(settings.mail);
  const userMailer = new UserMailer({ send, timers, log });
  const perMinute = settings.limits.signIns;
  const openPages = openPeoplePages({
    sql,
    clock,
    ids,
    newToken,
    secrets,
    settings,
    userMailer,
    links: limiter.limit('sign-in', perMinute),
    codes: limiter.limit('second-factor', perMinute),
    oidc: settings.oidc === undefined ? null : openProvider(settings.oidc, settings, log),
  });
  const door = openDoor({
    findSession: (asked) => findSession(doors, { ...asked, now: clock.now() }),
  });
  return { door, openPages, userMailer };
}

function openProvider(oidc: OidcSettings, { appUrl }: Settings, log: Log): Oidc {
  return openOidc({ settings: oidc, redirectUri: `${appUrl}/dashboard/oidc/callback`, log });
}

function openSending(mail: MailSettings): SendMail {
  const smtp = openSmtp(mail);
  return async (letter, signal) => {
    const result = await smtp.send({ ...letter, fromName: SENDER, replyTo: null }, signal);
    return result.kind;
  };
}
