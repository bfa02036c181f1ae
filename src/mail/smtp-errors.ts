import type { NodemailerError } from './nodemailer.ts';

/** Why a message did not go out, as users of the system may know it. */
export interface MailFault {
  /** Trying again is of no use. */
  readonly permanent: boolean;
  /** The server's words, or ours; bounded, without line breaks. It may hold addresses. */
  readonly why: string;
  /** The server as a whole was in the way: it is for other messages too. */
  readonly isOfServer?: true;
}

/** A recipient whom the server refused, while it took the message for others. */
export interface RefusedRecipient extends MailFault {
  readonly address: string;
}

/** Characters of the server's words. */
const MAX_WORDS_LENGTH = 500;
const unseen = /[\s\p{C}\p{Zl}\p{Zp}]+/gu;

/** What a fault says that has no words of a server, by its code. */
const texts: ReadonlyMap<string, string> = new Map([
  ['EABORT', 'The attempt was ended.'],
  ['EAUTH', 'The mail server does not let the service sign in.'],
  ['ENOAUTH', 'The mail server wants the service to sign in.'],
  ['ECONNECTION', 'The connection to the mail server was lost.'],
  ['EDNS', 'The mail server cannot be found.'],
  ['EENVELOPE', 'The message has no recipient whom mail can be sent to.'],
  ['EMESSAGE', 'The message is larger than the mail server takes.'],
  ['ESOCKET', 'The mail server cannot be reached.'],
  ['ETIMEDOUT', 'The mail server does not answer.'],
  ['ETLS', 'The connection to the mail server cannot be secured.'],
]);

/** What a server says of the message itself; all else tells of the server, and may pass. */
const ofMessage: ReadonlySet<unknown> = new Set(['EENVELOPE', 'EMESSAGE']);
/** What comes before a message is told of, mostly. */
const ofServer: ReadonlySet<unknown> = new Set([
  'EAUTH',
  'ENOAUTH',
  'ECONNECTION',
  'EDNS',
  'EPROTOCOL',
  'ESOCKET',
  'ETIMEDOUT',
  'ETLS',
]);

/** The fault that an attempt to send ended with. @param error of nodemailer */
export function mailFault(error: unknown): MailFault {
  const { code = '', response, responseCode, permanent } = error as NodemailerError;
  const isOfMessage = ofMessage.has(code);
  // Signing in may be answered with what was sent to do so.
  const words = isOfMessage || code === 'EPROTOCOL' || code === 'ECONNECTION' ? response?.replace(unseen, ' ').trim() : undefined;
  return {
    // Without an answer of the server it was not even tried.
    permanent: isOfMessage && (responseCode === undefined || permanent === true),
    why: words ? bounded(words) : (texts.get(code) ?? 'The message could not be sent.'),
    ...(ofServer.has(code) && { isOfServer: true }),
  };
}

function bounded(text: string): string {
  return text.length > MAX_WORDS_LENGTH ? `${text.slice(0, MAX_WORDS_LENGTH).toWellFormed()}…` : text;
}
