import { Type } from '@sinclair/typebox';
import { oneOf } from './values.ts';

export const Health = Type.Object({ status: Type.Literal('ok') });
export const Readiness = Type.Object({
  status: Type.Literal('ready'),
  mail: oneOf(['on', 'off'], {
    description: 'Whether mails are sent: `on` with SMTP_URL.',
  }),
});
