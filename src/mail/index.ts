export type { MailMessage } from './compose.ts';
export { createMailer } from './create.ts';
export type { Mailer } from './mailer.ts';
