import { Type } from '@sinclair/typebox';

export const Health = Type.Object({ status: Type.Literal('ok') });
export const Readiness = Type.Object({
  status: Type.Literal('ready'),
  mail: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    description: 'Whether receipts and the mails of dunning are sent: on with SMTP_URL.',
  }),
});
