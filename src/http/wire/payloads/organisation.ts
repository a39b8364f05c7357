import { Type } from '@sinclair/typebox';
import { SETTINGS } from '../../../records/organisations.ts';
import { Uuid, oneOf } from '../values.ts';
import { ECHO, type Payloads } from './payload.ts';
import { SAMPLE, SAMPLE_ECHO } from './samples.ts';

const OBJECTS = ['CUSTOMER', 'SUBSCRIPTION', 'INVOICE'];

const TAG = {
  tagId: Uuid,
  tagName: Type.String(),
  controlTag: Type.Boolean({
    description: 'Whether the tag controls the service, and is not only a label.',
  }),
  taggedObjectType: oneOf(OBJECTS),
  taggedObjectId: Uuid,
  ...ECHO,
};

const FIELD = {
  customFieldId: Uuid,
  name: Type.String(),
  value: Type.String(),
  fieldObjectType: oneOf(OBJECTS),
  fieldObjectId: Uuid,
  ...ECHO,
};

const tag = (tagId: string) => ({
  tagId,
  tagName: 'vip',
  controlTag: false,
  taggedObjectType: 'CUSTOMER',
  taggedObjectId: SAMPLE.customerId,
  ...SAMPLE_ECHO,
});

const field = (customFieldId: string) => ({
  customFieldId,
  name: 'cost-centre',
  value: '4711',
  fieldObjectType: 'CUSTOMER',
  fieldObjectId: SAMPLE.customerId,
  ...SAMPLE_ECHO,
});

export const ORGANISATION_PAYLOADS = {
  'tag.created': {
    meaning: 'A tag was put on a customer, a subscription or an invoice.',
    about: ['TAG'],
    fields: TAG,
    sample: tag,
  },
  'tag.deleted': {
    meaning: 'A tag was removed.',
    about: ['TAG'],
    fields: TAG,
    sample: tag,
  },
  'custom_field.created': {
    meaning: 'A custom field was added to an object.',
    about: ['CUSTOM_FIELD'],
    fields: FIELD,
    sample: field,
  },
  'custom_field.deleted': {
    meaning: 'A custom field was removed.',
    about: ['CUSTOM_FIELD'],
    fields: FIELD,
    sample: field,
  },
  'organization.config_changed': {
    meaning: "A part of the organisation's configuration was changed; one for each part.",
    about: ['ORGANIZATION'],
    fields: {
      key: oneOf(['name', 'timezone', 'seller', 'dunning', 'branding', 'processor']),
      changes: Type.Array(oneOf(SETTINGS), {
        description: 'The names of the changed fields, never their values.',
      }),
      actor: Type.String({
        description: 'Who changed it: the API key, by its id; `admin` for the command line.',
      }),
    },
    sample: () => ({ key: 'dunning', changes: ['retryDays'], actor: SAMPLE.keyId }),
  },
} satisfies Payloads;
