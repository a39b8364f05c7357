// Mails to the people of an organisation: links that sign in, and invitations.
import { type Letter, oneLine, rendered } from './render.ts';

const FOOTER = ['Tollhouse', 'Who did not expect this mail can ignore it.'];

export function signInLetter(href: string): Letter {
  const subject = 'Your link to sign in';
  const paragraphs = [
    'This link signs you in to the dashboard. It works once, within 15 minutes.',
    'Whoever did not ask for it need not do anything: without the link nobody is signed in.',
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
    'The invitation holds for a week.',
  ];
  const parts = { subject, heading: subject, paragraphs, rows: [] };
  const link = { label: 'See the invitation', href: invitation.href };
  return { subject, ...rendered(parts, { links: [link], footer: FOOTER, note: null }) };
}
