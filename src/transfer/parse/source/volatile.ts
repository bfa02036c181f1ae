/** What Parse Server keeps for itself beside the classes of its schema (`SchemaController.js`, volatileClasses). None of it has a place here. */
export const volatileClasses: readonly string[] = [
  '_Audience',
  '_GlobalConfig',
  '_GraphQLConfig',
  '_Hooks',
  '_Idempotency',
  '_JobSchedule',
  '_JobStatus',
  '_PushStatus',
];
