// Mails to the people of an organisation: links that sign in, and invitations.
import { type Letter, oneLine, rendered } from './render.ts';

const FOOTER = ['Tollhouse', 'If you did not expect this mail, you can ignore it.'];

export function signInLetter(href: string): Letter {
  const subject = 'Your sign-in link';
  const paragraphs = [
    'This link signs you in to the dashboard. It works once, within 15 minutes.',
    'If you did not ask for it, you need not do anything. Nobody can sign in without the link.',
  ];
  const parts = { subject, heading: subject, paragraphs, rows: [] };
  const link = { label: 'Sign in', href };
  return { subject, ...rendered(parts, { links: [link], footer: FOOTER, note: null }) };
}

export function invitationLetter(invitation: {
  readonly organisation: string;
  readonly role: string;
  /** The address of who invited; null for a program. */
  readonly inviter: string | null;
  readonly href: string;
}): Letter {
  const organisation = oneLine(invitation.organisation);
  const by = invitation.inviter === null ? '' : ` by ${oneLine(invitation.inviter)}`;
  const subject = `You are invited to ${organisation}`;
  const paragraphs = [
    `You are invited${by} to the dashboard of ${organisation}, as ${invitation.role}.`,
    'The invitation is valid for one week.',
  ];
  const parts = { subject, heading: subject, paragraphs, rows: [] };
  const link = { label: 'Open the invitation', href: invitation.href };
  return { subject, ...rendered(parts, { links: [link], footer: FOOTER, note: null }) };
}
