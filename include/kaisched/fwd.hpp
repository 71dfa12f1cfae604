#pragma once
/// @file
/// Forward declarations.

namespace kaisched {

class cluster;
class engine;
class policy_part;
class session;
class session_view;
class snapshot;
class table;
struct decision;
struct entity_id;
struct policy_options;
struct reason;
struct table_view;

}  // namespace kaisched
