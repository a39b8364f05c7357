import { Type } from '@sinclair/typebox';
import { ANNOUNCED } from '../../../records/customers.ts';
import { Nullable, oneOf } from '../values.ts';
import { ECHO, type Payloads } from './payload.ts';
import { SAMPLE, SAMPLE_ECHO } from './samples.ts';

const CUSTOMER = {
  ...ECHO,
  email: Nullable(Type.String({ format: 'email' })),
  name: Nullable(Type.String()),
};

export const BillingAddressData = Type.Object({
  line1: Nullable(Type.String()),
  line2: Nullable(Type.String()),
  city: Nullable(Type.String()),
  state: Nullable(Type.String()),
  postalCode: Nullable(Type.String()),
  country: Nullable(Type.String()),
});

const address = () => ({
  line1: "12 St James's Square",
  line2: null,
  city: 'London',
  state: null,
  postalCode: 'SW1Y 4JH',
  country: 'GB',
});

const customer = () => ({
  ...SAMPLE_ECHO,
  email: SAMPLE.email,
  name: 'Ada Lovelace',
});

export const CUSTOMER_PAYLOADS = {
  'customer.created': {
    meaning: 'A customer was created, by a checkout, a buy link or the API.',
    about: ['CUSTOMER'],
    fields: CUSTOMER,
    sample: customer,
  },
  'customer.updated': {
    meaning: "A customer's e-mail address, name, external id or billing address changed.",
    about: ['CUSTOMER'],
    fields: {
      ...CUSTOMER,
      billingAddress: Nullable(BillingAddressData),
      changes: Type.Array(oneOf(ANNOUNCED), { description: 'The fields that changed.' }),
    },
    sample: () => ({ ...customer(), billingAddress: address(), changes: ['email'] }),
  },
} satisfies Payloads;
