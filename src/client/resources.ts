// Generated from the operations of the service by `bun run client:types`.
import type { OperationId } from './operations.ts';

export const RESOURCES = {
  meters: {
    /** Create a meter. */
    create: 'createMeter',
    /** List meters, newest first. */
    list: 'listMeters',
    /** Get a meter. */
    retrieve: 'getMeter',
    /** Create or update a meter. */
    put: 'putMeter',
    /** Update a meter. */
    update: 'updateMeter',
    /** Delete a meter. */
    del: 'deleteMeter',
  },
  customers: {
    /** Create a customer. */
    create: 'createCustomer',
    /** List customers, newest first. */
    list: 'listCustomers',
    /** Get a customer. */
    retrieve: 'getCustomer',
    /** Create or update a customer. */
    put: 'putCustomer',
    /** Update a customer. */
    update: 'updateCustomer',
    /** List the balances of a customer. */
    listBalances: 'listBalances',
    /** Set the spend cap of a customer. */
    putSpendCap: 'putSpendCap',
    /** Get the spend cap of a customer. */
    retrieveSpendCap: 'getSpendCap',
    /** Remove the spend cap of a customer. */
    delSpendCap: 'deleteSpendCap',
    /** Get the credit of a customer. */
    retrieveCredit: 'getCredit',
    /** List the credit entries of a customer, newest first. */
    listCreditEntries: 'listCreditEntries',
    /** Set an automatic top-up. */
    putAutoTopup: 'putAutoTopup',
    /** Get the automatic top-up of a feature. */
    retrieveAutoTopup: 'getAutoTopup',
    /** Remove the automatic top-up of a feature. */
    delAutoTopup: 'deleteAutoTopup',
    /** List the automatic top-ups of a customer. */
    listAutoTopups: 'listAutoTopups',
  },
  grants: {
    /** Grant a customer units of a feature. */
    create: 'createGrant',
    /** List the live grants of a customer. */
    list: 'listGrants',
    /** Void a grant. */
    voidGrant: 'voidGrant',
  },
  reservations: {
    /** Hold units of a feature. */
    create: 'createReservation',
    /** Get a reservation. */
    retrieve: 'getReservation',
    /** Commit a reservation. */
    commit: 'commitReservation',
    /** Release a reservation. */
    release: 'releaseReservation',
    /** Extend a reservation. */
    extend: 'extendReservation',
  },
  events: {
    /** Record up to 500 events. */
    ingest: 'ingestEvents',
    /** List events, newest first. */
    list: 'listEvents',
    /** Get an event. */
    retrieve: 'getEvent',
  },
  decisions: {
    /** Explain why usage was allowed or denied. */
    find: 'listDecisions',
  },
  usage: {
    /** Usage of a feature over time. */
    retrieve: 'getUsage',
    /** List usage events, newest first. */
    events: 'listUsageEvents',
  },
  alerts: {
    /** Create an alert on a usage threshold. */
    create: 'createAlert',
    /** List alerts, newest first. */
    list: 'listAlerts',
    /** Get an alert. */
    retrieve: 'getAlert',
    /** Delete an alert. */
    del: 'deleteAlert',
    /** List the alerts of a customer, and which have fired. */
    listOfCustomer: 'listCustomerAlerts',
  },
  products: {
    /** Create a product, with its prices. */
    create: 'createProduct',
    /** List products, newest first. */
    list: 'listProducts',
    /** Get a product with all its prices. */
    retrieve: 'getProduct',
    /** Update a product. */
    update: 'updateProduct',
    /** Archive a product. */
    archive: 'archiveProduct',
    /** Publish a product. */
    publish: 'publishProduct',
    /** Add a price to a product. */
    createPrice: 'createPrice',
    /** Archive a price. */
    archivePrice: 'archivePrice',
    /** Attach a feature to a product. */
    createFeature: 'attachFeature',
    /** List the features of a product, oldest first. */
    listFeatures: 'listFeatures',
    /** Detach a feature from a product. */
    deleteFeature: 'detachFeature',
    /** Add a usage price to a product. */
    createUsagePrice: 'createUsagePrice',
    /** List the usage prices of a product, newest first. */
    listUsagePrices: 'listUsagePrices',
    /** Archive a usage price. */
    archiveUsagePrice: 'archiveUsagePrice',
  },
  discounts: {
    /** Create a discount code. */
    create: 'createDiscount',
    /** List discounts, newest first. */
    list: 'listDiscounts',
    /** Delete a discount. */
    del: 'deleteDiscount',
  },
  checkouts: {
    /** Create a hosted checkout. */
    create: 'createCheckout',
    /** List checkouts, newest first. */
    list: 'listCheckouts',
    /** Get a checkout. */
    retrieve: 'getCheckout',
    /** Expire a checkout. */
    expire: 'expireCheckout',
  },
  payments: {
    /** List payments, newest first. */
    list: 'listPayments',
    /** Get a payment. */
    retrieve: 'getPayment',
    /** Refund a payment, in full or in part. */
    refund: 'refundPayment',
    /** List a payment's refunds, newest first. */
    listRefunds: 'listRefunds',
  },
  refunds: {
    /** Get a refund. */
    retrieve: 'getRefund',
  },
  reports: {
    /** Get the numbers of today, compared with a week ago. */
    overview: 'getOverview',
    /** List payouts of the connected accounts, newest first. */
    payouts: 'listPayouts',
    /** List delivery counts by webhook endpoint, newest first. */
    webhookHealth: 'listWebhookHealth',
  },
  subscriptions: {
    /** Start a subscription by hand. */
    create: 'createSubscription',
    /** List subscriptions, newest first. */
    list: 'listSubscriptions',
    /** Get a subscription. */
    retrieve: 'getSubscription',
    /** Preview the next invoice of a subscription. */
    upcomingInvoice: 'getUpcomingInvoice',
    /** Change the price or the quantity of a subscription. */
    change: 'changeSubscription',
    /** Cancel a subscription. */
    cancel: 'cancelSubscription',
    /** Undo a scheduled cancellation. */
    uncancel: 'uncancelSubscription',
    /** Undo a pending change. */
    unschedule: 'unscheduleSubscription',
    /** Pause a subscription. */
    pause: 'pauseSubscription',
    /** Resume a subscription. */
    resume: 'resumeSubscription',
    /** End a trial now. */
    endTrial: 'endTrial',
    /** Preview a change of a subscription. */
    previewChange: 'previewSubscriptionChange',
    /** Preview the cancellation of a subscription. */
    previewCancel: 'previewSubscriptionCancel',
    /** Preview the resume of a subscription. */
    previewResume: 'previewSubscriptionResume',
    /** Preview the end of a trial. */
    previewEndTrial: 'previewTrialEnd',
  },
  invoices: {
    /** Create an invoice. */
    create: 'createInvoice',
    /** List invoices, newest first. */
    list: 'listInvoices',
    /** Get an invoice. */
    retrieve: 'getInvoice',
    /** List the lines of an invoice, in their order. */
    listLines: 'listInvoiceLines',
    /** Download the usage behind an invoice. */
    usage: 'downloadInvoiceUsage',
    /** Finalize a draft invoice. */
    finalizeInvoice: 'finalizeInvoice',
    /** Charge an invoice now. */
    pay: 'payInvoice',
    /** Void an unpaid invoice. */
    voidInvoice: 'voidInvoice',
    /** Get an invoice to print. */
    print: 'printInvoice',
  },
  portalTokens: {
    /** Create a portal link. */
    create: 'createPortalToken',
    /** Revoke a portal link. */
    revoke: 'revokePortalToken',
  },
  webhookEndpoints: {
    /** Register a webhook endpoint. */
    create: 'createWebhookEndpoint',
    /** List webhook endpoints, newest first. */
    list: 'listWebhookEndpoints',
    /** Get a webhook endpoint. */
    retrieve: 'getWebhookEndpoint',
    /** Update a webhook endpoint. */
    update: 'updateWebhookEndpoint',
    /** Delete a webhook endpoint. */
    del: 'deleteWebhookEndpoint',
    /** Rotate the secret of a webhook endpoint. */
    rotateSecret: 'rotateWebhookEndpointSecret',
    /** Send a sample event to a webhook endpoint. */
    test: 'sendSampleEvent',
    /** List the deliveries of a webhook endpoint, newest first. */
    listDeliveries: 'listDeliveries',
    /** Send a range of events to a webhook endpoint again. */
    replay: 'replayEvents',
  },
  deliveries: {
    /** Get a delivery, with all its attempts. */
    retrieve: 'getDelivery',
    /** Send a delivery now. */
    retry: 'retryDelivery',
  },
  partnerWebhookEndpoints: {
    /** Register a group's webhook endpoint. */
    create: 'createPartnerWebhookEndpoint',
    /** List the group's webhook endpoints, newest first. */
    list: 'listPartnerWebhookEndpoints',
    /** Get a group's webhook endpoint. */
    retrieve: 'getPartnerWebhookEndpoint',
    /** Update a group's webhook endpoint. */
    update: 'updatePartnerWebhookEndpoint',
    /** Delete a group's webhook endpoint. */
    del: 'deletePartnerWebhookEndpoint',
    /** Rotate the secret of a group's webhook endpoint. */
    rotateSecret: 'rotatePartnerWebhookEndpointSecret',
  },
  organization: {
    /** Get the organization and its settings. */
    retrieve: 'getOrganization',
    /** Update the settings of the organization. */
    update: 'updateOrganization',
    /** Set the logo of the organization. */
    putLogo: 'putLogo',
    /** Get the logo of the organization. */
    retrieveLogo: 'getLogo',
    /** Remove the logo of the organization. */
    deleteLogo: 'deleteLogo',
    /** Connect a Stripe account, or replace its key. */
    connectProcessor: 'connectProcessor',
    /** Get the connected Stripe account. */
    retrieveProcessor: 'getProcessor',
    /** Disconnect the Stripe account. */
    disconnectProcessor: 'disconnectProcessor',
    /** Get the security settings. */
    retrieveSecurity: 'getSecurity',
    /** Update the security settings. */
    updateSecurity: 'updateSecurity',
  },
  apiKeys: {
    /** Create an API key. */
    create: 'createApiKey',
    /** List API keys, newest first. */
    list: 'listApiKeys',
    /** Revoke an API key. */
    revoke: 'revokeApiKey',
    /** Rotate an API key. */
    rotate: 'rotateApiKey',
  },
  members: {
    /** List members, newest first. */
    list: 'listMembers',
    /** Get a member. */
    retrieve: 'getMember',
    /** Change the role of a member. */
    update: 'updateMember',
    /** Remove a member. */
    remove: 'removeMember',
  },
  invitations: {
    /** Invite a member by e-mail. */
    create: 'createInvitation',
    /** List invitations, newest first. */
    list: 'listInvitations',
    /** Withdraw an invitation. */
    revoke: 'revokeInvitation',
  },
  auditLog: {
    /** List the audit log, newest first. */
    list: 'listAuditLog',
    /** Download the audit log. */
    download: 'downloadAuditLog',
  },
  tags: {
    /** Put a tag on a customer, a subscription or an invoice. */
    create: 'createTag',
    /** List tags, newest first. */
    list: 'listTags',
    /** Remove a tag. */
    del: 'deleteTag',
  },
  customFields: {
    /** Add a custom field to a customer, a subscription or an invoice. */
    create: 'createCustomField',
    /** List custom fields, newest first. */
    list: 'listCustomFields',
    /** Remove a custom field. */
    del: 'deleteCustomField',
  },
  testClock: {
    /** Get the test clock. */
    retrieve: 'getTestClock',
    /** Move the test clock. */
    advance: 'moveTestClock',
  },
} as const satisfies Record<string, Readonly<Record<string, OperationId>>>;
