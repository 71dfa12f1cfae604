#pragma once
/// @file
/// The whole C++ interface. It is stable at source level; the binary promise is the C header `kaisched.h`.

#include <kaisched/assumption.hpp>
#include <kaisched/candidates.hpp>
#include <kaisched/certificates.hpp>
#include <kaisched/choice.hpp>
#include <kaisched/cluster.hpp>
#include <kaisched/decisions.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/executor.hpp>
#include <kaisched/federation.hpp>
#include <kaisched/gaps.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/options.hpp>
#include <kaisched/policy.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/remedies.hpp>
#include <kaisched/result.hpp>
#include <kaisched/scaling.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/session.hpp>
#include <kaisched/share_steps.hpp>
#include <kaisched/snapshot.hpp>
#include <kaisched/table.hpp>
#include <kaisched/version.hpp>
#include <kaisched/victims.hpp>
