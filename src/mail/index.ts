export { createMailer } from './create.ts';
export type { Mailer, MailMessage } from './mailer.ts';
