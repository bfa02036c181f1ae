export { type AddressList, addressesIn, addressesOf, type ListPiece } from './addresses.ts';
export { headerText, type MailMessage } from './compose.ts';
export { createMailer } from './create.ts';
export { greetMailServer } from './greeting.ts';
export type { MailAttempt, Mailer } from './mailer.ts';
export { plainText } from './plain-text.ts';
export type { RefusedRecipient } from './smtp-errors.ts';
