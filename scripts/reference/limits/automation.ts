import * as email from '../../../src/automation/actions/e-mail.ts';
import * as actions from '../../../src/automation/definition/actions.ts';
import * as definition from '../../../src/automation/definition/definition.ts';
import * as quota from '../../../src/automation/definition/quota.ts';
import * as schedule from '../../../src/automation/definition/schedule.ts';
import * as typecheck from '../../../src/automation/definition/typecheck.ts';
import * as deliver from '../../../src/automation/mail/deliver.ts';
import * as triggerLog from '../../../src/automation/model/trigger-log.ts';
import * as chain from '../../../src/automation/run/chain-limits.ts';
import * as doAction from '../../../src/automation/run/do-action.ts';
import * as retryable from '../../../src/automation/run/retryable-jobs.ts';
import * as expand from '../../../src/automation/schedule/expand.ts';
import { settings } from '../../../src/config/settings.ts';
import { limits } from '../../../src/kernel/limits.ts';
import * as mailer from '../../../src/mail/mailer.ts';
import { characters, count, duration, type LimitGroup } from './limit.ts';

const days = (value: number) => duration(value * 86_400_000);

export const triggerLimits: readonly LimitGroup[] = [
  {
    heading: '## Triggers',
    limits: [
      {
        of: 'depth of a chain of triggers',
        value: `${chain.MAX_DEPTH} levels`,
        beyond: 'the next level is blocked and logged',
        see: 'triggers.md#chain-depth',
      },
      {
        of: 'actions that one write causes, at all levels',
        value: count(chain.MAX_ACTIONS),
        beyond: 'the rest is blocked and logged',
        see: 'triggers.md#chain-depth',
      },
      {
        of: 'definitions of a system',
        value: `${count(quota.MAX_DEFINITIONS)}, of ${characters(quota.MAX_DEFINITIONS_LENGTH)} together`,
        beyond: '400, code 107',
        see: 'triggers.md#definition',
      },
      {
        of: 'actions of a definition',
        value: `${actions.MAX_ACTIONS}, of ${characters(actions.MAX_ACTIONS_LENGTH)} together`,
        beyond: '400, code 107',
        see: 'triggers.md#actions',
      },
      {
        of: 'templates in the actions of a definition',
        value: count(typecheck.MAX_TEMPLATES),
        beyond: '400, code 107',
        see: 'triggers.md#templates',
      },
      {
        of: '`criteria`; steps of their patterns',
        value: `${characters(definition.MAX_CRITERIA_LENGTH)}; ${count(limits.criteriaRegexSize)}`,
        beyond: '400, code 107 or 102',
        see: 'triggers.md#criteria',
      },
      {
        of: '`Name`; `cron`; `timezone`',
        value: `${characters(definition.MAX_NAME_LENGTH)}; ${schedule.MAX_CRON_LENGTH}; ${schedule.MAX_ZONE_LENGTH}`,
        beyond: '400, code 107',
        see: 'triggers.md#definition',
      },
      {
        of: '`html`; `subject`; addresses of an e-mail action',
        value: `${characters(actions.MAX_HTML_LENGTH)}; ${count(actions.MAX_SUBJECT_LENGTH)}; ${count(actions.MAX_ADDRESSES_LENGTH)}`,
        beyond: '400, code 107',
        see: 'triggers.md#e-mail',
      },
      {
        of: '`content`; `icon` of a notification',
        value: `${characters(actions.MAX_CONTENT_LENGTH)}; ${count(actions.MAX_ICON_LENGTH)}`,
        beyond: '400, code 107',
        see: 'triggers.md#notification',
      },
      {
        of: 'records of one run of a schedule',
        value: count(expand.MAX_RECORDS),
        beyond: 'the next run continues',
        see: 'triggers.md#schedules',
      },
      {
        of: 'starts of an action that end with their process',
        value: count(doAction.MAX_INTERRUPTED_STARTS),
        beyond: 'the action fails',
        see: 'triggers.md#order-and-delivery',
      },
      {
        of: '`data` of a row of `_syslogTriggers`; its `error`',
        value: `${characters(triggerLog.MAX_DATA_LENGTH)}; ${count(triggerLog.MAX_ERROR_LENGTH)}`,
        beyond: 'it is cut',
        see: 'triggers.md#trigger-log',
      },
      {
        of: 'age of rows of `_syslogTriggers`, `_Timeline`, `_RequestLog`, `_AdminLog`',
        value: [
          `\`TRIGGER_LOG_DAYS\`, ${days(settings.TRIGGER_LOG_DAYS.read.parse(undefined))} by default`,
          '`TIMELINE_DAYS`, no limit by default',
          `\`REQUEST_LOG_DAYS\`, ${days(settings.REQUEST_LOG_DAYS.read.parse(undefined))} by default`,
          `\`ADMIN_LOG_DAYS\`, ${days(settings.ADMIN_LOG_DAYS.read.parse(undefined))} by default`,
        ].join('; '),
        beyond: 'they are deleted',
        see: 'audit.md#retention',
      },
    ],
  },
  {
    heading: '### Mail',
    limits: [
      {
        of: 'recipients of a message',
        value: count(email.MAX_RECIPIENTS),
        beyond: 'the action fails',
        see: 'mail.md#bounds-of-mail',
      },
      {
        of: 'subject after its templates are filled',
        value: characters(email.MAX_SUBJECT_LENGTH),
        beyond: 'it is cut',
        see: 'mail.md#bounds-of-mail',
      },
      {
        of: 'time that a message of a trigger is retried',
        value: duration(retryable.RETRY_WINDOW_MS),
        beyond: 'its row says `failed`',
        see: 'mail.md#outgoing-mail',
      },
      {
        of: 'attempts of a message of the service (password reset)',
        value: count(mailer.RETRY_DELAYS_MS.length + 1),
        beyond: 'it is kept in `DATA_DIR/mail`',
        see: 'mail.md#outgoing-mail',
      },
      {
        of: 'time of one attempt',
        value: duration(mailer.ATTEMPT_TIMEOUT_MS),
        beyond: 'it counts as failed',
        see: 'mail.md#outgoing-mail',
      },
      {
        of: '`ErrorMessage` of a row of `Emails`',
        value: characters(deliver.MAX_ERROR_LENGTH),
        beyond: 'it is cut',
        see: 'mail.md#emails-rows',
      },
    ],
  },
];
