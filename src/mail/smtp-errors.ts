import type { NodemailerError } from './nodemailer.ts';

/** Why a message was not sent, as users of the system may see it. */
export interface MailFault {
  /** Whether a retry is useless. */
  readonly permanent: boolean;
  /** The server's words, or ours; truncated, without line breaks. May contain addresses. */
  readonly why: string;
  /** The failure concerns the server as a whole, so it affects other messages too. */
  readonly isServerFault?: true;
}

/** A recipient that the server refused while accepting the message for others. */
export interface RefusedRecipient extends MailFault {
  readonly address: string;
}

/** Maximum length of the server's words, in characters. */
const MAX_WORDS_LENGTH = 500;
const invisible = /[\s\p{C}\p{Zl}\p{Zp}]+/gu;

/** Texts by error code, for errors without words of a server. */
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

/** Codes that concern the message itself. All others concern the server, and may be transient. */
const messageCodes: ReadonlySet<unknown> = new Set(['EENVELOPE', 'EMESSAGE']);
/** Codes that mostly occur before a message is submitted. */
const serverCodes: ReadonlySet<unknown> = new Set([
  'EAUTH',
  'ENOAUTH',
  'ECONNECTION',
  'EDNS',
  'EPROTOCOL',
  'ESOCKET',
  'ETIMEDOUT',
  'ETLS',
]);

/** Describes the failure of an attempt to send. @param error from nodemailer */
export function mailFault(error: unknown): MailFault {
  const { code = '', response, responseCode, permanent } = error as NodemailerError;
  const isOfMessage = messageCodes.has(code);
  // An answer to a login attempt may repeat the credentials, so it is not shown.
  const words =
    isOfMessage || code === 'EPROTOCOL' || code === 'ECONNECTION' ? response?.replace(invisible, ' ').trim() : undefined;
  return {
    // Without an answer of the server, nodemailer itself rejected the message, so a retry is useless.
    permanent: isOfMessage && (responseCode === undefined || permanent === true),
    why: words ? bounded(words) : (texts.get(code) ?? 'The message could not be sent.'),
    ...(serverCodes.has(code) && { isServerFault: true }),
  };
}

function bounded(text: string): string {
  return text.length > MAX_WORDS_LENGTH ? `${text.slice(0, MAX_WORDS_LENGTH).toWellFormed()}…` : text;
}
