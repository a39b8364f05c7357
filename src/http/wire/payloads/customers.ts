import { Type } from '@sinclair/typebox';
import { Nullable } from '../values.ts';
import type { Payloads } from './payload.ts';
import { SAMPLE } from './samples.ts';

const CUSTOMER = {
  externalCustomerId: Nullable(Type.String()),
  email: Nullable(Type.String({ format: 'email' })),
  name: Nullable(Type.String()),
};

const customer = () => ({
  externalCustomerId: SAMPLE.externalCustomerId,
  email: SAMPLE.email,
  name: 'Ada Lovelace',
});

export const CUSTOMER_PAYLOADS = {
  'customer.created': {
    meaning: 'A customer was made, by a checkout, a buy link or the API.',
    about: ['CUSTOMER'],
    fields: CUSTOMER,
    sample: customer,
  },
  'customer.updated': {
    meaning: "A customer's e-mail address, name or external id changed.",
    about: ['CUSTOMER'],
    fields: {
      ...CUSTOMER,
      changes: Type.Array(Type.String(), { description: 'The fields that changed.' }),
    },
    sample: () => ({ ...customer(), changes: ['email'] }),
  },
} satisfies Payloads;
